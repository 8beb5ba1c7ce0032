"""Words that mean the same in a team's notes, and words near enough to speak of the same thing."""

from __future__ import annotations

# Abbreviations, spellings and true synonyms. One group a line; the first word stands for all.
SAME = """
use utilise utilize
begin start kick-off commence
stop halt terminate
delete remove erase
show display
fetch retrieve
mandatory required compulsory obligatory
allowed permitted
forbidden prohibited banned disallowed
verify check
big large
quick fast rapid
child kid
person human someone somebody
man guy
woman lady
bicycle bike
database db
repository repo
production prod
development dev
environment env
authentication auth
authorization authz
kubernetes k8s
postgres postgresql
javascript js
typescript ts
documentation docs
application app
directory folder dir
message msg
parameter param
administrator admin
configuration config
maximum max
minimum min
identifier id
temporary temp tmp
request req
response resp
certificate cert
infrastructure infra
specification spec
sync synchronous synchronously
async asynchronous asynchronously
pr pull-request
cli command-line-interface
on-call oncall
timeout time-out
rollout roll-out
rollback roll-back
latest newest
email mail
frontend front-end
backend back-end
about approximately roughly
each every
gray grey
color colour
behavior behaviour
canceled cancelled
"""
# Near enough to be about the same thing, too far apart to be the same statement.
AKIN = """
use employ adopt rely
begin launch boot trigger initiate fire open startup
stop end quit finish cease close
delete purge drop wipe discard clear destroy
create make generate produce build add compile assemble
change modify alter edit update adjust
send hand publish emit announce dispatch deliver post push submit go output report notify route forward export ship
fetch pull download read load come
receive accept get take obtain
store keep hold persist save retain live reside sit host place put stay locate find
run execute deploy operate work
mandatory need necessary require
verify confirm inspect validate examine test
fail break crash failure
fix repair resolve correct patch
choose pick select
own maintain responsible lead manage owner maintainer handle
review approve
contact reach
write author
expire expiry expiration lapse valid validity ttl lifetime last lasting due
override take-precedence-over win-over trump outrank beat
log logging
secret credential
email mailer
replica standby secondary follower
primary master leader
queue backlog
customer client
machine host node
call invoke ask query
listen bind reachable bound
contain include comprise consist
group squad team
merge land
schedule cron plan
name title label
user account
pipeline ci workflow
issue ticket bug defect
feature functionality
outage incident
cost price
speed throughput
delay latency lag
folder path
format encode encoding
indent indentation
permission right privilege
login signin logon
token credential
picture image photo
cat kitten
dog puppy
see visible view
supply provide offer
display render
split divide partition shard
compare diff
convert transform translate
collect gather aggregate
protect guard secure
limit cap ceiling threshold quota restrict
warn alert alarm
monitor watch observe
connect attach link
copy duplicate clone replicate
backup back-up snapshot
wait block
move migrate transfer relocate
talk speak communicate
describe document explain
discuss debate
hire employee
copy mirror
"""
