"""Why sparsity turns back: noise, momentum, finite sequences, and the flow itself."""
