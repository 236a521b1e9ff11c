import type { JsonObject } from '../../src/machinery/kube-object.js';
import { deducedJson } from '../../src/patch/apply/schema.js';
import type { CustomType } from '../../src/registry/definition/custom-type.js';

/** A custom type that accepts any object. */
export function anyCustomType(openApi?: JsonObject): CustomType {
  return {
    read: (object) => ({ object, unknownFields: [] }),
    canonical: (object) => object,
    refreshed: () => undefined,
    ownership: deducedJson,
    openApiSchema: openApi,
  };
}
