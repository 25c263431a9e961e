"""The chapter `tian2023_s3_setting`."""
