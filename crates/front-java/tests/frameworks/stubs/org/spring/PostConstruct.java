package org.spring;

public @interface PostConstruct {}
