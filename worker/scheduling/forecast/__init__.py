"""Forecasts of the end of the open batches, in closed form, and the policies that lend idle trainer lanes by them."""
