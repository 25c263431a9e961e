"""The inner loops of stage 2."""
