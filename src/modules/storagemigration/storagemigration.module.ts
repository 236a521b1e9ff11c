import { Module } from '@nestjs/common';
import { StorageMigrationGroup } from './storagemigration.group.js';

@Module({ providers: [{ provide: StorageMigrationGroup, useFactory: () => new StorageMigrationGroup() }] })
export class StorageMigrationModule {}
