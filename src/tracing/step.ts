/**
 * The steps of a request, in their usual order. `handling` is the rest of a verb: conversion, defaults, validation. `cache`
 * is a read from the watch cache, with the wait until it is fresh enough; `store` is a call of the store.
 */
export const stepNames = [
  'authentication',
  'impersonation',
  'flowControl',
  'authorization',
  'handling',
  'body',
  'decode',
  'admission',
  'cache',
  'store',
  'encode',
  'write',
] as const;

export type Step = (typeof stepNames)[number];
