"""What more than one chapter uses."""
