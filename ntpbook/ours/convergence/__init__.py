"""Why training turns to the max-margin solution: Theorems A and B with complete proofs."""
