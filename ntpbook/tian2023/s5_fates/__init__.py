"""The chapter `tian2023_s5_fates`."""
