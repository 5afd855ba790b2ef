"""Effects: the only modules that touch the machine. Everything else is handed a `Host`."""
