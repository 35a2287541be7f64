//! `selvedge check`: everything about some files in one go.
//!
//! The way of a run: [`files`] (paths to files), [`settings`] (command line, configuration file and
//! defaults become one), [`load`] (files to models), [`analyse`] (models to findings, in parallel,
//! under the limits, with answers from the [`cache`], and a [`bar`] for those who wait), [`publish`]
//! (findings to the screen and to files, which [`outputs`] keeps from destroying others, [`open`] shows
//! them in a browser), all of which [`finish`] sees to. [`watch`] does it again, [`shard`] does a part of
//! it.

pub mod analyse;
pub mod bar;
pub mod cache;
pub mod confirm;
pub mod files;
pub mod finish;
pub mod javac;
pub mod load;
pub mod open;
pub mod outputs;
pub mod publish;
pub mod settings;
pub mod shard;
pub mod sources;
pub mod watch;
