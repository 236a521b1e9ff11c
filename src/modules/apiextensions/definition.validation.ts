import type { NamingProfile } from '../../config/naming-profile.js';
import type { FieldError } from '../../machinery/field-error.js';
import type { KubeObject } from '../../machinery/kube-object.js';

export function validateDefinition(_definition: KubeObject, _naming: NamingProfile): FieldError[] {
  return [];
}
export function validateDefinitionUpdate(_d: KubeObject, _old: KubeObject, _naming: NamingProfile): FieldError[] {
  return [];
}
export function validateStatusNames(_definition: KubeObject): FieldError[] {
  return [];
}
