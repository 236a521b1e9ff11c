import { apiVersion } from '../config/version.js';
import type { Schema } from './openapi-meta-schemas.js';
import { gvkOf } from './openapi-schemas.js';
import type { ApiOperation, ApiParameter, ApiPath } from './openapi-operations.js';

/** What OpenAPI 2.0 and 3.0 make of the same operations. */
const info = { title: 'Keelson', version: `${apiVersion.major}.${apiVersion.minor}` };
const security = { BearerToken: { type: 'apiKey', name: 'authorization', in: 'header' } };
const texts = { 200: 'OK', 201: 'Created', 202: 'Accepted' } as const;
const unauthorized = { '401': { description: 'Unauthorized' } };

export function openApiV3(paths: readonly ApiPath[], schemas: Record<string, Schema>) {
  return {
    openapi: '3.0.0',
    info,
    paths: items(paths, operationV3, parameterV3),
    components: { schemas, securitySchemes: security },
  };
}

function operationV3(operation: ApiOperation) {
  const content = (mediaTypes: readonly string[], schema: Schema) =>
    Object.fromEntries(mediaTypes.map((mediaType) => [mediaType, { schema }]));
  const { body } = operation;
  return {
    ...(body && {
      requestBody: { content: content(body.mediaTypes, body.schema), ...(body.required && { required: true }) },
    }),
    responses: responses(operation, { content: content(operation.produces, operation.answer) }),
  };
}

function parameterV3({ name, in: place, type }: ApiParameter) {
  return { name, in: place, ...(place === 'path' && { required: true }), schema: { type, uniqueItems: true } };
}

export function openApiV2(paths: readonly ApiPath[], schemas: Record<string, Schema>) {
  const shared = new Map<string, object>();
  const parameterV2 = ({ name, in: place, type }: ApiParameter) => {
    const parameter = { uniqueItems: true, type, name, in: place, ...(place === 'path' && { required: true }) };
    if (inlined.has(name)) return parameter;
    shared.set(name, parameter);
    return { $ref: `#/parameters/${name}` };
  };
  return {
    swagger: '2.0',
    info,
    paths: items(paths, operationV2, parameterV2),
    definitions: schemas,
    parameters: Object.fromEntries([...shared].sort(([a], [b]) => (a < b ? -1 : 1))),
    securityDefinitions: security,
    security: [{ BearerToken: [] }],
  };
}

/** Clients look for these on the operation itself, and follow no reference. */
const inlined: ReadonlySet<string> = new Set(['dryRun', 'fieldValidation', 'name']);

function operationV2(operation: ApiOperation, parameters: readonly object[]) {
  const { body, produces, answer, gvk } = operation;
  const own = body
    ? [{ name: 'body', in: 'body', ...(body.required && { required: true }), schema: body.schema }, ...parameters]
    : parameters;
  return {
    consumes: gvk ? (body?.mediaTypes ?? ['*/*']) : produces,
    produces,
    schemes: ['https'],
    ...(own.length > 0 && { parameters: own }),
    responses: responses(operation, { schema: answer }),
  };
}

function responses({ codes }: ApiOperation, answer: object) {
  return {
    ...Object.fromEntries(codes.map((code) => [code, { description: texts[code], ...answer }])),
    ...unauthorized,
  };
}

/** Parameters that all operations of a path have are said once, of the path. */
function items<P extends object>(
  paths: readonly ApiPath[],
  rest: (operation: ApiOperation, parameters: readonly P[]) => object,
  parameter: (given: ApiParameter) => P,
) {
  const entries = paths.map(({ path, operations }) => {
    const [first, ...others] = operations;
    const common = sorted(
      (first?.parameters ?? []).filter(({ name }) =>
        others.every(({ parameters }) => parameters.some((other) => other.name === name)),
      ),
    );
    const commonNames = new Set(common.map(({ name }) => name));
    const item: Record<string, unknown> = {};
    for (const operation of operations) {
      const { method, id, tag, action, gvk, parameters } = operation;
      const own = sorted(parameters.filter(({ name }) => !commonNames.has(name))).map(parameter);
      item[method] = {
        tags: [tag],
        operationId: id,
        ...(own.length > 0 && { parameters: own }),
        ...rest(operation, own),
        ...(action !== undefined && { 'x-kubernetes-action': action }),
        ...(gvk && { 'x-kubernetes-group-version-kind': gvkOf(gvk) }),
      };
    }
    if (common.length > 0) item['parameters'] = common.map(parameter);
    return [path, item] as const;
  });
  return Object.fromEntries(entries);
}

function sorted(parameters: readonly ApiParameter[]): ApiParameter[] {
  return [...parameters].sort((a, b) => (a.name < b.name ? -1 : 1));
}
