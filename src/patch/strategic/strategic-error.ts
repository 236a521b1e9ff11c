import { ApiError } from '../../machinery/api-error.js';
import { fieldError, goQuote } from '../../machinery/field-error.js';
import { goPrint, goTypeName } from '../go-print.js';

/** Path at which a patch fails: `spec.template.spec.containers`. */
export type PatchPath = string;

export function below(path: PatchPath, name: string): PatchPath {
  return path === '' ? name : `${path}.${name}`;
}

/** The error (400) for a patch that cannot be parsed. */
export const badFormat = {
  notAnObject: (patch: unknown) =>
    ApiError.badRequest(`json: cannot unmarshal ${jsonTypeName(patch)} into Go value of type map[string]interface {}`),
  primitiveList: () => ApiError.badRequest('invalid patch format of primitive list'),
  retainKeys: () => ApiError.badRequest('invalid patch format of retainKeys'),
  setElementOrder: () => ApiError.badRequest('invalid patch format of setElementOrder list'),
};

/** The error (422) for a patch that does not fit the object; kube-apiserver answers 500 in some cases. */
export const misfit = {
  directive: (path: PatchPath, directive: unknown, patch: unknown) =>
    unfit(path, `unknown patch type: ${goPrint(directive)} in map: ${goPrint(patch)}`),
  mergeDirective: (path: PatchPath) => unfit(path, 'merging lists cannot yet be specified in the patch'),
  noMergeKey: (path: PatchPath, item: unknown, key: string) =>
    unfit(path, `map: ${goPrint(item)} does not contain declared merge key: ${key}`),
  noDeclaredKey: (path: PatchPath) => unfit(path, 'cannot merge lists without merge key for struct'),
  listOfLists: (path: PatchPath) => unfit(path, 'lists of lists are not supported'),
  mixedItems: (path: PatchPath, lists: readonly (readonly unknown[])[]) =>
    unfit(path, `list element types are not identical: ${goPrint(lists)}`),
  wrongType: (path: PatchPath, expected: string, found: unknown) =>
    unfit(path, `expected a ${expected}, but received a ${goTypeName(found)}`),
  order: (path: PatchPath, patch: readonly unknown[], order: readonly unknown[]) =>
    unfit(
      path,
      `The order in patch list:\n${goPrint(patch)}\n doesn't match $setElementOrder list:\n${goPrint(order)}\n`,
    ),
  repeatedChanges: (path: PatchPath, key: string) =>
    unfit(path, `the patch has too many items of the same merge key: ${key}`),
  noStruct: (path: PatchPath) => unfit(path, 'merging an object in json but data type is not struct'),
  noField: (path: PatchPath, struct: string, field: string) =>
    unfit(path, `unable to find api field in struct ${struct} for the json field ${goQuote(field)}`),
};

function unfit(field: PatchPath, message: string): ApiError {
  return new ApiError({
    reason: 'Invalid',
    message,
    details: { causes: [{ reason: 'FieldValueInvalid', message, field }] },
  });
}

/** The error if the patched object does not have the shape of its type. `patch` is the whole patch. */
export function unrestorable(patch: unknown, problem: string): ApiError {
  const { type, field, detail } = fieldError.invalid('patch', goPrint(patch), problem);
  return new ApiError({
    reason: 'Invalid',
    message: ` ${goQuote('')} is invalid: ${field}: ${detail}`,
    details: { causes: [{ reason: type, message: detail, field }] },
  });
}

function jsonTypeName(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}
