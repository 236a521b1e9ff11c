import { ApiError } from '../../machinery/api-error.js';
import type { FieldErrorType } from '../../machinery/field-error.js';
import type { JsonObject, JsonValue } from '../../machinery/kube-object.js';
import type { TypeProblem } from './type-check.js';

interface KindName {
  readonly apiVersion: string;
  readonly kind: string;
}

export function wrongObjectType(config: JsonObject): ApiError {
  return ApiError.badRequest(`invalid object type: ${kindText(textOf(config['apiVersion']), textOf(config['kind']))}`);
}

const typeOfCause: Readonly<Record<TypeProblem['kind'], FieldErrorType>> = {
  unknownField: 'FieldValueInvalid',
  wrongType: 'FieldValueTypeInvalid',
  duplicate: 'FieldValueDuplicate',
};

/** The error (422) for a configuration that does not fit its type; kube-apiserver answers 500. */
export function typedPatchError(
  { apiVersion, kind }: KindName,
  config: JsonObject,
  problems: readonly TypeProblem[],
): ApiError {
  const metadata = (config['metadata'] ?? {}) as JsonObject;
  const name = textOf(metadata['name']);
  const group = groupOf(apiVersion);
  const texts = problems.map(({ path, detail }) => (path === '' ? detail : `${path}: ${detail}`));
  const list = texts.length === 1 ? texts[0] : ['errors:', ...texts.map((text) => `  ${text}`)].join('\n');
  const where = `${textOf(metadata['namespace'])}/${name}; ${kindText(apiVersion, kind)}`;
  return new ApiError({
    reason: 'Invalid',
    message: `failed to create typed patch object (${where}): ${list}`,
    details: {
      ...(name !== '' && { name }),
      ...(group !== '' && { group }),
      kind,
      causes: problems.map((problem) => ({
        reason: typeOfCause[problem.kind],
        message: problem.detail,
        field: problem.path.replace(/^\./, ''),
      })),
    },
  });
}

/** `apps/v1, Kind=Deployment`, `/v1, Kind=Pod` */
function kindText(apiVersion: string, kind: string): string {
  return `${apiVersion.includes('/') ? apiVersion : `/${apiVersion}`}, Kind=${kind}`;
}

function groupOf(apiVersion: string): string {
  return apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}
