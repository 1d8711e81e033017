"""A cost critic: penalties with a value network of their own, beside the policy's rewards."""
