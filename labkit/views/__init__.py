"""Views draw a lab, and never decide: a pure layout, tested, under a thin drawing."""
