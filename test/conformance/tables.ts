import { definingKinds, newEvents, reviews, roles, rulesForRequests } from './access.cases.js';
import { accounts, limiting, protecting, securing, shapingPods } from './admission.cases.js';
import { applying, owning, strategicMerging } from './apply.cases.js';
import type { Table } from './case.js';
import { certificateRequests, clusterParts, devices } from './cluster.cases.js';
import { deleting, deletingCollections, namespacing } from './delete.cases.js';
import { answers, badBodies, fieldValidation, paths, representations } from './error.cases.js';
import { oddFields } from './field-validation.cases.js';
import { collections, getting, listing, paging, selecting } from './list.cases.js';
import { networks } from './networking.cases.js';
import { jsonPatching, merging, patchTypes } from './patch.cases.js';
import { nodePorts, serviceRanges, services } from './service.cases.js';
import { binding, status } from './subresource.cases.js';
import { versions } from './version.cases.js';
import { watchRefusals } from './watch.cases.js';
import { connecting, evicting, scaling, workloads } from './workload.cases.js';
import { creating, dryRuns, putting } from './write.cases.js';

export const allTables: readonly Table[] = [
  creating,
  putting,
  dryRuns,
  merging,
  jsonPatching,
  patchTypes,
  applying,
  owning,
  strategicMerging,
  versions,
  deleting,
  deletingCollections,
  namespacing,
  status,
  binding,
  scaling,
  workloads,
  evicting,
  connecting,
  accounts,
  shapingPods,
  limiting,
  securing,
  protecting,
  networks,
  services,
  nodePorts,
  serviceRanges,
  certificateRequests,
  clusterParts,
  devices,
  getting,
  listing,
  paging,
  selecting,
  collections,
  roles,
  reviews,
  newEvents,
  definingKinds,
  rulesForRequests,
  watchRefusals,
  badBodies,
  fieldValidation,
  oddFields,
  paths,
  representations,
  answers,
];

/** Tables whose results may depend on the store or the naming profile. */
export const tablesForEveryStore = allTables.filter(({ everywhere }) => everywhere);
