"""Claims, checks of them and what rests on what; knows no paper and nothing else of ours."""
