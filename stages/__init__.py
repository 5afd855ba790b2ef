"""The stages of a launch, one module each; importing this package does nothing."""
