"""The chapter `any_data`: data that contradict themselves."""
