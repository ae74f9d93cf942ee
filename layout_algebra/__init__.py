"""Tensor layouts as algebra."""
