package org.spring;

public @interface Scheduled {}
