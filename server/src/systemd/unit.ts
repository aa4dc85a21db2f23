/** The systemd service, and the places that it uses. */
export const account = 'masthead'
export const unitFile = '/etc/systemd/system/masthead.service'
export const settingsFile = '/etc/masthead/masthead.env'
export const stateFolder = '/var/lib/masthead'

/** The Node that runs, and the file that it runs: absolute, because systemd knows no PATH of a shell. */
export type Program = { node: string; main: string }

/** A unit that begins with another line is not ours to replace. */
export const firstLine = '# Written by `masthead service install`, which also replaces it.'

/**
 * Denies all that serving does not need. MemoryDenyWriteExecute is not set, because V8 compiles JavaScript to machine code, and PrivateIPC
 * is not, because PostgreSQL notices by shared memory that another one has its files. Imports and exports lower their own priority.
 */
const hardening = `NoNewPrivileges=yes
CapabilityBoundingSet=
AmbientCapabilities=
ProtectSystem=strict
PrivateTmp=yes
PrivateDevices=yes
PrivateUsers=yes
PrivateMounts=yes
ProtectProc=invisible
ProtectClock=yes
ProtectHostname=yes
ProtectControlGroups=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @resources
SystemCallFilter=setpriority
SystemCallErrorNumber=EPERM
UMask=0077`

export const unitText = (program: Program): string => {
  const isAtHome = [program.node, program.main].some((path) => /^\/(home|root|run\/user)\//.test(path))
  return `${firstLine}
# Change settings in ${settingsFile}, and this unit by \`systemctl edit masthead\`.
[Unit]
Description=Masthead, the customer API of a publishing business
Wants=network-online.target
After=network-online.target postgresql.service

[Service]
Type=exec
User=${account}
Group=${account}
EnvironmentFile=${settingsFile}
StateDirectory=masthead
StateDirectoryMode=0700
WorkingDirectory=${stateFolder}
ExecStart=${quoted(program.node)} ${quoted(program.main)} serve
Restart=on-failure
RestartSec=5
# A stop takes up to 10 seconds. Masthead is asked to, and stops the embedded PostgreSQL after the last response.
KillMode=mixed
TimeoutStopSec=15
# Masthead starts an embedded PostgreSQL again that was killed for want of memory.
OOMPolicy=continue
LimitNOFILE=65536

# Only ${stateFolder} and a folder of its own for temporary files can be written to.
${hardening}
ProtectHome=${isAtHome ? 'read-only' : 'yes'}

[Install]
WantedBy=multi-user.target
`
}

/** systemd replaces % and $ in a command line. */
export const quoted = (path: string): string => {
  const literal = path.replaceAll('%', '%%').replaceAll('$', '$$$$')
  return /[\s"'\\;]/.test(literal) ? `"${literal.replaceAll(/["\\]/g, '\\$&')}"` : literal
}
