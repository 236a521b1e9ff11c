import type { Int64 } from './int64.js';

/** A JSON value as the codecs return it: plain objects, arrays, strings, numbers, booleans and null. */
export type JsonValue = string | Int64 | boolean | null | JsonValue[] | { [key: string]: JsonValue };
export type JsonObject = { [key: string]: JsonValue };

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

/** metadata of every object. Absent and empty fields are equal. */
export interface ObjectMeta {
  name?: string;
  generateName?: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: Int64;
  creationTimestamp?: string | null;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: Int64;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
  finalizers?: string[];
  managedFields?: JsonValue[];
  selfLink?: string;
}

/** An object of any kind. Fields beyond these are read by code that knows the kind. */
export interface KubeObject {
  kind: string;
  apiVersion: string;
  metadata: ObjectMeta;
  [field: string]: unknown;
}

/** An object of any kind with a status, for code that moves the status and reads none of its fields. */
export interface ObjectWithStatus extends KubeObject {
  status?: unknown;
}

/** The same object, for code that handles any JSON. */
export const asJson = (object: KubeObject): JsonObject => object as unknown as JsonObject;

/** Returns the owner that controls an object. */
export function controllerOf({ metadata }: Pick<KubeObject, 'metadata'>): OwnerReference | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true);
}
