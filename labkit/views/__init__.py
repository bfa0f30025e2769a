"""Views draw a lab and decide nothing: each is a pure, tested layout and a thin drawing of it."""
