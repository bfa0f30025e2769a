"""The endpoints of the API: those that the specification names, and others of the core that documentation does."""

from __future__ import annotations

# Operation and path, mounts at their usual places; `write` is POST and PUT.
SPECIFIED = """\
write auth/cloud/config
read auth/cloud/config
delete auth/cloud/config
write cloud/rotate-root
write auth/cloud/role/<name>
read auth/cloud/role/<name>
list auth/cloud/role
delete auth/cloud/role/<name>
write auth/cloud/login
write transit/keys/<name>
write transit/keys/<name>/import
write transit/keys/<name>/import_version
read transit/wrapping_key
read transit/keys/<name>
list transit/keys
delete transit/keys/<name>
write transit/keys/<name>/config
write transit/keys/<name>/rotate
write transit/keys/<name>/trim
write transit/keys/<name>/csr
write transit/keys/<name>/set-certificate
read transit/byok-export/<destination>/<source>
read transit/export/<key_type>/<name>
write transit/config/keys
read transit/config/keys
write transit/encrypt/<name>
write transit/decrypt/<name>
write transit/rewrap/<name>
write transit/datakey/<type>/<name>
write transit/random
write transit/hash
write transit/hmac/<name>
write transit/sign/<name>
write transit/verify/<name>
read transit/backup/<name>
write transit/restore
write transit/cache-config
read transit/cache-config
read sys/replication/dr/status
write sys/replication/dr/primary/enable
write sys/replication/dr/primary/demote
write sys/replication/dr/primary/disable
write sys/replication/dr/primary/secondary-token
write sys/replication/dr/primary/revoke-secondary
write sys/replication/dr/secondary/generate-public-key
write sys/replication/dr/secondary/enable
write sys/replication/dr/secondary/promote
write sys/replication/dr/secondary/disable
write sys/replication/dr/secondary/update-primary
read sys/replication/dr/secondary/generate-operation-token/attempt
write sys/replication/dr/secondary/generate-operation-token/attempt
delete sys/replication/dr/secondary/generate-operation-token/attempt
write sys/replication/dr/secondary/generate-operation-token/update
write sys/replication/dr/secondary/operation-token/delete
write sys/replication/dr/secondary/reindex
write sys/replication/dr/secondary/merkle-check
read secret/config
write secret/config
read secret/data/<path>
write secret/data/<path>
patch secret/data/<path>
delete secret/data/<path>
read secret/subkeys/<path>
write secret/delete/<path>
write secret/undelete/<path>
write secret/destroy/<path>
list secret/metadata/<path>
read secret/metadata/<path>
write secret/metadata/<path>
patch secret/metadata/<path>
delete secret/metadata/<path>
"""

# Of the core, beside those that are built: public documentation of servers of this API.
DOCUMENTED = """\
read cubbyhole/<path>
write cubbyhole/<path>
delete cubbyhole/<path>
list cubbyhole/<path>
list sys/namespaces
read sys/namespaces/<name>
write sys/namespaces/<name>
patch sys/namespaces/<name>
delete sys/namespaces/<name>
read sys/rekey/init
write sys/rekey/init
delete sys/rekey/init
write sys/rekey/update
read sys/rekey/verify
write sys/rekey/verify
delete sys/rekey/verify
read sys/rekey/backup
delete sys/rekey/backup
write sys/rotate
read sys/rotate/config
write sys/rotate/config
read sys/key-status
read sys/generate-root/attempt
write sys/generate-root/attempt
delete sys/generate-root/attempt
write sys/generate-root/update
write sys/leases/lookup
list sys/leases/lookup/<prefix>
write sys/leases/renew
write sys/leases/revoke
write sys/leases/revoke-prefix/<prefix>
write sys/leases/revoke-force/<prefix>
write sys/leases/tidy
read sys/leases/count
read sys/ha-status
read sys/host-info
read sys/license/status
read sys/metrics
list sys/version-history
read sys/config/state/sanitized
read sys/config/cors
read sys/plugins/catalog
write sys/tools/random
write sys/tools/hash
read sys/quotas/config
write sys/quotas/config
list sys/quotas/rate-limit
read sys/quotas/rate-limit/<name>
write sys/quotas/rate-limit/<name>
delete sys/quotas/rate-limit/<name>
list sys/quotas/lease-count
read sys/quotas/lease-count/<name>
write sys/quotas/lease-count/<name>
delete sys/quotas/lease-count/<name>
list sys/managed-keys/<kind>
read sys/managed-keys/<kind>/<name>
write sys/managed-keys/<kind>/<name>
delete sys/managed-keys/<kind>/<name>
"""

ALIASES = {"write cloud/rotate-root": "write auth/cloud/rotate-root"}
"""Other paths of endpoints (decision A7)."""
