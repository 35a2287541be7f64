package org.spring;

public @interface RestController {}
