import type { JsonObject } from '../../src/machinery/kube-object.js';
import { deducedJson } from '../../src/patch/apply/schema.js';
import type { CustomType } from '../../src/registry/definition/custom-type.js';

/** The form of a custom kind whose objects are taken as they come. */
export function openForm(openApi?: JsonObject): CustomType {
  return {
    read: (object) => ({ object, unknownFields: [] }),
    canonical: (object) => object,
    refreshed: () => undefined,
    ownership: deducedJson,
    openApiSchema: openApi,
  };
}
