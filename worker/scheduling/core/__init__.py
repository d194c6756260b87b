"""The scheduler, its parts (admission, generation, scoring, training, lending), and its model of what work costs."""
