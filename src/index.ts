// Public API for programs that embed the server and add API groups of their own.
export {
  ApiGroup,
  Subresource,
  VirtualResource,
  type ApiGroupOptions,
  type HandlerResult,
  type SubresourceRequest,
  type VirtualRequest,
} from './registry/apis/api-group.js';
export {
  defineResource,
  type HandledSubresource,
  type ViewSubresource,
  type ResourceDefinition,
  type VirtualResourceDefinition,
} from './registry/definition/resource-definition.js';
export { scaleSubresource } from './registry/definition/scale-subresource.js';
export { statusSubresource } from './registry/definition/status-subresource.js';
export { updateObject } from './registry/write/update.js';
export type { Strategy, StrategyContext } from './registry/definition/strategy.js';
export { ageCell, ageColumn, defaultTable, nameColumn, type TableDefinition } from './registry/definition/table.js';
export { ApiError } from './machinery/api-error.js';
export { fieldError, type FieldError } from './machinery/field-error.js';
export { asFields, asNumber, asText, fillIn, makeFields } from './machinery/fields.js';
export type { KubeObject, ObjectMeta } from './machinery/kube-object.js';
export { nameIsDnsLabel, nameIsDnsSubdomain } from './machinery/names.js';
export { admissionFor } from './verbs/verb.js';
export { startServer, type RunningServer, type StartOptions } from './assembly/server.js';
export { defaultConfig, loadConfig } from './config/load-config.js';
export type { AppParts } from './assembly/components.js';
export type { GroupModule } from './app.module.js';
