package org.spring;

public @interface Service {}
