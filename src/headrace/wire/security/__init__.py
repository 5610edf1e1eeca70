"""Who may do what: credentials, access control lists, quotas, and the file that keeps them."""
