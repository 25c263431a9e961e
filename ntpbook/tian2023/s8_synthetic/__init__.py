"""The chapter `tian2023_s8_synthetic`."""
