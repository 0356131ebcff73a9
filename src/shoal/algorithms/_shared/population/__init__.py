"""Models about a population: values that an algorithm chose are generalized until they hold."""
