"""Memory accesses: claims, cases and inputs, compared with enumeration."""
