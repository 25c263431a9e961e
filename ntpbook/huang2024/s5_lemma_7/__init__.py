"""The chapter `huang2024_s5_lemma_7`."""
