import type { JsonObject, KubeObject } from '../../machinery/kube-object.js';
import type { Schema } from '../../patch/apply/schema.js';

/** An object as its type reads it. */
export interface SubmittedObject {
  readonly object: KubeObject;
  /** Paths of fields that the type does not have. They are removed from the object. */
  readonly unknownFields: readonly string[];
}

/**
 * The functions and schemas of a custom kind, which has no StructType, computed from its CustomResourceDefinition. They
 * do not change their arguments.
 */
export interface CustomType {
  /** Reads a submitted object: prunes unknown fields and fills in defaults. */
  readonly read: (object: KubeObject) => SubmittedObject;
  /** Returns the object as it is stored, after admission. */
  readonly canonical: (object: KubeObject) => KubeObject;
  /**
   * Converts an object stored under an earlier schema of the CustomResourceDefinition; undefined if nothing changes.
   */
  readonly refreshed: (object: KubeObject) => KubeObject | undefined;
  /** The schema by which managedFields are computed. */
  readonly ownership: Schema;
  /** The OpenAPI schema of the CustomResourceDefinition, as submitted. */
  readonly openApiSchema: JsonObject | undefined;
}
