"""The chapter `tian2023_s4_decoder`."""
