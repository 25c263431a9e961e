"""The chapter `huang2024_s3_setup`."""
