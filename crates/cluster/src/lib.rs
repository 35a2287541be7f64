//! The search of states in several processes, on one machine or many: each owns some of the states and
//! sends what it finds to the owners, over timely dataflow.
//!
//! Start reading at [`cluster`], which searches. [`hosts`] is the file that lists the processes,
//! [`hello`] what they say to each other before anything else, [`alive`] how they know of each other
//! afterwards, `flow` the dataflow. What a partition does in its turn is in `selvedge_states`; this crate
//! carries its words and knows when all have arrived.

pub mod alive;
pub mod cluster;
mod flow;
pub mod hello;
pub mod hosts;

pub use cluster::{Cluster, JoinError, JoinRequest};
pub use hosts::{HostsError, parse_hosts};
