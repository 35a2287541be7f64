package org.spring;

public @interface Autowired {}
