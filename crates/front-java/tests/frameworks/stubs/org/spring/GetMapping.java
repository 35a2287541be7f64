package org.spring;

public @interface GetMapping {}
