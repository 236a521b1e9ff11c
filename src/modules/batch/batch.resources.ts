import type { Job } from '../../catalog/types/batch.v1.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import { defineResource, type ResourceDefinition } from '../../registry/definition/resource-definition.js';
import { cronJobTable, jobTable } from './batch.tables.js';
import { cronJobStatusSubresource, cronJobStrategy } from './cron-job.strategy.js';
import { jobStatusSubresource, jobStrategy } from './job.strategy.js';

export const batchVersion = { group: 'batch', version: 'v1' } as const;

export function batchResources(naming: NamingProfile): readonly ResourceDefinition[] {
  return [
    defineResource({
      ...batchVersion,
      kind: 'CronJob',
      plural: 'cronjobs',
      shortNames: ['cj'],
      categories: ['all'],
      namespaced: true,
      strategy: cronJobStrategy,
      table: cronJobTable,
      subresources: { status: cronJobStatusSubresource },
    }),
    defineResource({
      ...batchVersion,
      kind: 'Job',
      plural: 'jobs',
      categories: ['all'],
      namespaced: true,
      selectableFields: { 'status.successful': ({ status }: Job) => String(status?.succeeded ?? 0) },
      strategy: jobStrategy(naming),
      table: jobTable,
      subresources: { status: jobStatusSubresource },
    }),
  ];
}
