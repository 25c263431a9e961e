"""The chapter `tian2023_s6_snapping`."""
