"""What every start of a harness rests on, whoever drives it: program, environment, bound."""
