"""Other projects' notations, compared with their meaning by enumeration."""
