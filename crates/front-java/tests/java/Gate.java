interface Gate { void open(); }
