/** The shapes of stacks. Each makes a number of events from inside itself, with calls that make no event in between. */
enum Shape {
    PLAIN {
        @Override void make(Worker worker, int count) throws Exception {
            Plain.make(worker, count);
        }
    },
    RECURSION {
        @Override void make(Worker worker, int count) throws Exception {
            Plain.recurse(worker, count, 60);
        }
    },
    DEEP(true) {
        @Override void make(Worker worker, int count) throws Exception {
            Plain.recurse(worker, count, 2000);
        }
    },
    INLINED {
        @Override void make(Worker worker, int count) throws Exception {
            Inlined.make(worker, count);
        }
    },
    DISPATCHED {
        @Override void make(Worker worker, int count) throws Exception {
            Dispatched.make(worker, count);
        }
    },
    MIXED {
        @Override void make(Worker worker, int count) throws Exception {
            Mixed.make(worker, count);
        }
    },
    WIDE {
        @Override void make(Worker worker, int count) throws Exception {
            Wide.make(worker, count);
        }
    },
    LAMBDA {
        @Override void make(Worker worker, int count) throws Exception {
            Lambda.make(worker, count);
        }
    },
    REFLECTION {
        @Override void make(Worker worker, int count) throws Exception {
            Reflection.make(worker, count);
        }
    },
    HANDLE {
        @Override void make(Worker worker, int count) throws Exception {
            Handle.make(worker, count);
        }
    },
    UPCALL {
        @Override void make(Worker worker, int count) throws Exception {
            Upcall.make(worker, count);
        }
    },
    EXCEPTION {
        @Override void make(Worker worker, int count) throws Exception {
            Thrown.make(worker, count);
        }
    },
    LOOP {
        @Override void make(Worker worker, int count) throws Exception {
            Loop.make(worker, count);
        }
    },
    TRAP {
        @Override void make(Worker worker, int count) throws Exception {
            Trap.make(worker, count);
        }
    },
    /** Each of its turns compiles a family of classes anew. */
    INVALIDATED(true) {
        @Override void make(Worker worker, int count) throws Exception {
            Invalidated.make(worker, count);
        }
    };

    /** Whether a turn costs much, so that it comes less often. */
    final boolean rare;

    Shape() {
        this(false);
    }

    Shape(boolean rare) {
        this.rare = rare;
    }

    /** Makes `count` events. */
    abstract void make(Worker worker, int count) throws Exception;
}
