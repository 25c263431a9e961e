"""The chapter `tian2023_s7_discussion`."""
