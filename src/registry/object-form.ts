import type { JsonObject, KubeObject } from '../machinery/kube-object.js';
import type { Schema } from '../patch/apply/schema.js';
import type { SubmittedObject } from './submitted-object.js';

/**
 * What the objects of a kind are made of that has no type among the built-in ones, because somebody defined it while
 * the server ran. Its functions change nothing that they are given.
 */
export interface ObjectForm {
  /** What a client sent: without the fields that the kind does not have, and with its defaults. */
  readonly read: (object: KubeObject) => SubmittedObject;
  /** What admission has left, as it is stored. */
  readonly canonical: (object: KubeObject) => KubeObject;
  /** What was stored under an older definition as the present one has it; undefined where that is the same. */
  readonly refreshed: (object: KubeObject) => KubeObject | undefined;
  /** How its fields are told apart by those who own them. */
  readonly ownership: Schema;
  /** The schema of the whole object, as its author wrote it. */
  readonly openApi: JsonObject | undefined;
}
