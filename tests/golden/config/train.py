print("a training program")
